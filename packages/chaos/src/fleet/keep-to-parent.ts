// Loaded before the command line (`--import`): ends the process with the one that started it, and sets its clock wrong by
// TASKBRIDGE_CHAOS_SKEW_MS.
const { TASKBRIDGE_CHAOS_SKEW_MS: skew = "0" } = process.env;

process.on("disconnect", () => process.exit());
process.channel?.unref();

const skewMs = Number(skew);
if (skewMs !== 0) {
  const RealDate = Date;
  const now = (): number => RealDate.now() + skewMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (_target, args, newTarget) => Reflect.construct(RealDate, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
  });
}
