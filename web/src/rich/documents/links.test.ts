// @vitest-environment jsdom
import { expect, test } from "vitest";

import { removeLinks } from "../../../frames/links";

const parsed = (html: string): HTMLElement => new DOMParser().parseFromString(html, "text/html").body;

test.each([
  "<a href='http://a.example/' ping='http://a.example/'>a</a>",
  "<a href='data:text/html,x'>a</a>",
  "<a href=' #a'>a</a>",
  "<map><area href='//a.example'></map>",
  "<form action='http://a.example/'><button formaction='http://a.example/'>a</button></form>",
  "<svg><a xlink:href='http://a.example/'><text>a</text></a><a href='http://a.example/'><text>a</text></a></svg>",
  "<svg><a><set attributeName='href' to='http://a.example/' /><text>a</text></a></svg>",
  "<svg><a><animate attributeName='xlink:href' values='http://a.example/' /><text>a</text></a></svg>",
  "<math><mi href='http://a.example/'>a</mi></math>",
])("a click in a document that is only looked at leads nowhere: %s", (html) => {
  const body = parsed(html);
  expect(removeLinks(body)).toBe(true);
  expect(body.innerHTML).not.toMatch(/example|data:| #a/);
  expect(removeLinks(body)).toBe(false);
});

test("what stands in the document itself stays", () => {
  const body = parsed("<a href='#a'>a</a><svg><use href='#b'></use><image href='data:image/png;base64,'></image><animate attributeName='x'></animate></svg>");
  const before = body.innerHTML;
  expect(removeLinks(body)).toBe(false);
  expect(body.innerHTML).toBe(before);
});
