import assert from "node:assert/strict";
import { test } from "node:test";
import { backFrom, loginPath } from "../../web/src/parts/back.ts";

const origin = "https://whetstone.example";

test("the login page leads back to where one was, to the token", () => {
  const place = { pathname: "/runs/a%2Fb/episode", search: "?id=x&phase=train", hash: "#t1.3" };
  const { search } = new URL(loginPath(place), origin);
  assert.equal(backFrom(search, origin), "/runs/a%2Fb/episode?id=x&phase=train#t1.3");
});

test("it leads nowhere else, and not to itself", () => {
  for (const to of [
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "http://whetstone.example/",
    "https://whetstone.example.evil.example/",
    "/login?to=/login",
    "http://[",
    "https://whetstone.example//evil.example",
    "/.//evil.example",
    "/x/..//evil.example",
  ]) {
    assert.equal(backFrom(`?${new URLSearchParams({ to })}`, origin), "/", to);
  }
  assert.equal(backFrom("", origin), "/");
  assert.equal(backFrom("?to=inbox", origin), "/inbox");
});
