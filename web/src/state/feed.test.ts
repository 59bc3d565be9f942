// @vitest-environment jsdom
import { beforeEach, expect, it, vi } from "vitest";

import type { Frame } from "../stream/frames";
import type { LinkOptions } from "../stream/link";
import { followFeed } from "./feed";
import { useInbox } from "./inbox";
import { checkPerson } from "./session";

let give: (frame: Frame) => void = () => undefined;
vi.mock("../stream/link", () => ({
  follow: (options: LinkOptions) => {
    give = options.onFrame;
    return { retry: () => undefined, close: () => undefined };
  },
}));
vi.mock("./session", () => ({ checkPerson: vi.fn(), useSession: { getState: () => ({ user: "ann" }) } }));
const ready = (data: object): void => give({ id: "1", event: "ready", data: JSON.stringify(data) });

beforeEach(() => {
  vi.resetAllMocks();
  followFeed();
});

it("a feed that says whose it is is compared with the person", () => {
  ready({ inbox: 2, user_id: "bob" });
  expect(vi.mocked(checkPerson).mock.calls).toEqual([["bob"]]);
  expect(useInbox.getState().count).toBe(2);
});

it("a feed of an older server, which does not say it, changes nothing but the count", () => {
  ready({ inbox: 3 });
  expect(checkPerson).not.toHaveBeenCalled();
  expect(useInbox.getState().count).toBe(3);
});
