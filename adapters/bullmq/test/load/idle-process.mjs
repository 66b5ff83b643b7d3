// A process that does nothing but notice how late its timers are: what the machine does to anybody. Asked, it tells how late each
// was since the last asking, in milliseconds.
let late = [];
let due = performance.now() + 5;
setInterval(() => {
  const now = performance.now();
  late.push(Math.max(0, now - due));
  due = now + 5;
}, 5);
process.on("message", () => {
  process.send?.(late);
  late = [];
});
process.on("disconnect", () => process.exit(0));
