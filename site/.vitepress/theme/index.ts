/** The default theme with the fonts of the reader's system, and a search of the catalogue in the reader's own words. */
import type { Theme } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { FindMethod } from "./FindMethod.ts";
import "./style.css";

export default {
  extends: theme,
  enhanceApp({ app }) {
    app.component("FindMethod", FindMethod);
  },
} satisfies Theme;
