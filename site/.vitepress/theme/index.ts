/** The default theme with the fonts of the reader's system, a search of the catalogue in the reader's own words, and a recorded run. */
import type { Theme } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { FindMethod } from "./FindMethod.ts";
import { RecordedRun } from "./RecordedRun.ts";
import "./style.css";

export default {
  extends: theme,
  enhanceApp({ app }) {
    app.component("FindMethod", FindMethod);
    app.component("RecordedRun", RecordedRun);
  },
} satisfies Theme;
