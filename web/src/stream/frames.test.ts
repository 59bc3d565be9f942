import { describe, expect, it } from "vitest";

import { parser, type Frame } from "./frames";

const STREAM = ': at 17\n\nid: 5\nevent: text_delta\ndata: {"a":1}\n\nid: 6\r\nevent: x\r\ndata: one\r\ndata: two\r\n\r\ndata: 字\n\n: ping\n\n';
const FRAMES: Frame[] = [
  { id: "5", event: "text_delta", data: '{"a":1}' },
  { id: "6", event: "x", data: "one\ntwo" },
  { id: "6", event: "message", data: "字" },
];

describe("frames", () => {
  it("are read from a whole stream", () => {
    expect(parser().push(STREAM)).toEqual(FRAMES);
  });

  it("are the same wherever the stream is cut", () => {
    for (let one = 0; one <= STREAM.length; one += 1) {
      for (let two = one; two <= STREAM.length; two += 7) {
        const frames = parser();
        const found = [STREAM.slice(0, one), STREAM.slice(one, two), STREAM.slice(two)].flatMap((piece) => frames.push(piece));
        expect(found).toEqual(FRAMES);
      }
    }
  });

  it("are not made from a block that is not complete", () => {
    expect(parser().push("data: half\n")).toEqual([]);
  });
});
