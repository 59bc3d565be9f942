import { describe, expect, it } from "vitest";

import { sameJson } from "../log/same";
import { ExactNumber, readJson, writeJson } from "./json";

describe("numbers in JSON", () => {
  it.each([
    '{"account":90071992547409931,"note":"rent"}',
    '[-9007199254740993,9007199254740993]',
    "123456789012345678901234567890",
    '{"big":1e400,"small":1e-400}',
    '{"exact":0.1234567890123456789012}',
    '{"a":"90071992547409931","b":" 90071992547409931 ","c":"\\\\\\" 90071992547409931","d":90071992547409931}',
    '{"90071992547409931":1,"__proto__":{"x":90071992547409931}}',
  ])("stay as they are written: %s", (text) => {
    expect(writeJson(readJson(text))).toBe(text);
  });

  it("are plain numbers where a script holds them", () => {
    expect(readJson("[9007199254740992, 10000000000000000, 5.0, 1763446181.123456, 1e21, -1]")).toEqual([9007199254740992, 1e16, 5, 1763446181.123456, 1e21, -1]);
    expect(readJson('{"at": 1763446181123, "account": 90071992547409931}')).toEqual({ at: 1763446181123, account: new ExactNumber("90071992547409931") });
  });

  it.each(["01234567890123456789", "{12345678901234567890:1}", "12345678901234567890.", "[12345678901234567890 12345678901234567890]", '"12345678901234567890', "- 12345678901234567890"])(
    "that are no JSON are none: %s",
    (text) => {
      expect(() => readJson(text)).toThrow(SyntaxError);
    },
  );

  it("differ if their digits do", () => {
    const [one, other] = [readJson("[90071992547409931]"), readJson("[90071992547409932]")];
    expect(sameJson(one, other)).toBe(false);
    expect(sameJson(one, readJson("[90071992547409931]"))).toBe(true);
    expect(sameJson(one, [{ text: "90071992547409931" }])).toBe(false);
  });

  it("are indented with the rest", () => {
    expect(writeJson(readJson('{"account": 90071992547409931}'), 2)).toBe('{\n  "account": 90071992547409931\n}');
  });
});
