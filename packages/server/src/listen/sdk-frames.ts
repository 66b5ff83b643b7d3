import { acknowledgedId, honoursNothing, type WireMessage } from "@taskbridge/protocol/tasks-2026-07-28";
import { createGate } from "./gate.ts";

/** What the SDK's own subscription stream says, one frame at a time. */
export interface SdkFrames {
  /** The next frame to pass on; undefined: none at present. */
  take(): SdkFrame | undefined;
  /**
   * `opening`: not acknowledged yet. `open`: it honours something. `empty`: it honours nothing, and ends by itself.
   * `ended`: it said so. `broken`: it stopped without a word.
   */
  state(): "opening" | "open" | "empty" | "ended" | "broken";
  cancel(): void;
}

export interface SdkFrame {
  readonly kind: "acknowledgement" | "notification";
  readonly message: WireMessage;
}

/** Frames that may wait for a slow reader; until they are taken, no more are read. */
const maxWaiting = 16;

/** Reads the SDK's stream. Its keep-alives are left out. `wake` is called when there is something new to ask for. */
export const readSdkFrames = (stream: ReadableStream<Uint8Array>, wake: () => void): SdkFrames => {
  const reader = stream.getReader();
  const waiting: SdkFrame[] = [];
  const drained = createGate();
  let state: ReturnType<SdkFrames["state"]> = "opening";
  let isCancelled = false;

  const receiveMessage = (message: WireMessage): void => {
    if (state === "opening" && acknowledgedId(message) !== undefined) {
      state = honoursNothing(message) ? "empty" : "open";
      waiting.push({ kind: "acknowledgement", message });
    } else if (message.result === undefined) {
      waiting.push({ kind: "notification", message });
    } else if (state === "open") {
      // Having honoured nothing the SDK ends at once, and that is not the end of what we honour.
      state = "ended";
    }
  };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done || isCancelled) return;
      text += decoder.decode(value, { stream: true });
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const data = frame.split("\n").find((line) => line.startsWith("data: "));
        if (data !== undefined) receiveMessage(JSON.parse(data.slice(6)) as WireMessage);
      }
      wake();
      while (waiting.length >= maxWaiting && !isCancelled) await drained.next();
    }
  };
  const finish = (): void => {
    if (state === "opening" || state === "open") state = "broken";
    wake();
  };
  read().then(finish, finish);
  return {
    take: () => {
      const frame = waiting.shift();
      drained.open();
      return frame;
    },
    state: () => state,
    cancel: () => {
      isCancelled = true;
      drained.open();
      reader.cancel().catch(() => {});
    },
  };
};
