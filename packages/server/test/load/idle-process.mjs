// A process that does nothing but notice how long its own event loop was held up: what the machine does to anybody.
import { monitorEventLoopDelay } from "node:perf_hooks";

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
process.on("message", () => {
  process.send?.(delay.max / 1e6);
  delay.reset();
});
process.on("disconnect", () => process.exit(0));
