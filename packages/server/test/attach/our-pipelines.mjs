// Pipelines that do the same whatever server they are attached to.
const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };

export const largeText = "ä€😀x".repeat(500);

const names = ["quick", "slow", "asking", "failing", "large"];

export const ourTools = names.map((name) => ({
  name: `our-${name}`,
  adapter: "fake",
  target: { run: name },
  task: { pollIntervalMs: 20 },
}));

export const ourFake = {
  scripts: {
    quick: (run) => run.succeed({ files: 14 }),
    slow: () => {},
    asking: (run) => void run.ask({ message: "Sure?", schema }),
    failing: (run) => run.fail("the disk is full"),
    large: (run) => run.succeedWithStream(largeText),
  },
  onAnswer: (run, { action, content }) => run.succeed({ action, content: content ?? null }),
};

export const ourLimits = { maxInlineResultBytes: 100 };
