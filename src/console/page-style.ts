import { markup } from './markup.ts'

/** Tokens first: light and dark differ in nothing else. 4 px grid, 14 px base, borders instead of shadows; text at AA contrast. */
export const style = markup`
:root {
  --ground: #fafafa; --raised: #fff; --line: #e2e2e6; --text: #1c1c21; --quiet: #62626c;
  --accent: #4450c8; --good: #1a7443; --warn: #8f5400; --bad: #b3261e; --code: #f2f2f5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #131316; --raised: #1b1b1f; --line: #303036; --text: #ececf0; --quiet: #a0a0ab;
    --accent: #a3acff; --good: #6fd39b; --warn: #efb35c; --bad: #ff9a90; --code: #232328;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 14px/20px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 40px 24px 64px; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 12px; margin-bottom: 32px; }
h1 { font-size: 24px; line-height: 32px; font-weight: 600; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 14px; line-height: 20px; font-weight: 600; margin: 40px 0 12px; }
p { margin: 0 0 12px; max-width: 68ch; }
a { color: var(--accent); text-underline-offset: 3px; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.quiet { color: var(--quiet); }
.state { display: inline-flex; align-items: baseline; gap: 8px; }
.state::before { content: ""; flex: none; width: 8px; height: 8px; border-radius: 50%; background: currentColor; }
.good::before { color: var(--good); } .warn::before { color: var(--warn); } .bad::before { color: var(--bad); }
.off::before { color: var(--quiet); }
header .state { margin-left: auto; font-weight: 600; }
.notice { border: 1px solid var(--line); border-left: 4px solid var(--warn); border-radius: 8px;
  background: var(--raised); padding: 12px 16px; margin: 0 0 16px; max-width: none; overflow-wrap: anywhere; }
code, pre { font: 13px/20px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(136px, 1fr)); gap: 1px; margin: 0;
  background: var(--line); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
dl div { background: var(--raised); padding: 12px 16px; }
dt { color: var(--quiet); }
dd { margin: 0; font-size: 20px; line-height: 28px; font-variant-numeric: tabular-nums; }
.facts { grid-template-columns: 1fr 1fr; margin-bottom: 16px; }
.facts dd { font-size: 14px; line-height: 20px; overflow-wrap: anywhere; }
.list { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); }
.list > li { padding: 12px 16px; overflow-wrap: anywhere; }
.list > li + li { border-top: 1px solid var(--line); }
.provider { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) minmax(0, 2fr); gap: 0 16px; }
.step { display: grid; grid-template-columns: 20px minmax(0, 1fr); gap: 0 12px; }
.step > div { min-width: 0; }
.mark { color: var(--quiet); } .done .mark { color: var(--good); } .next .mark { color: var(--accent); }
.next b { color: var(--accent); } .step b { font-weight: 600; }
pre { margin: 8px 0 0; padding: 8px 12px; background: var(--code); border-radius: 4px;
  white-space: pre-wrap; overflow-wrap: anywhere; }
footer { display: flex; flex-wrap: wrap; gap: 8px 24px; margin-top: 40px; padding-top: 16px; border-top: 1px solid var(--line); }
@media (max-width: 600px) {
  main { padding: 24px 16px 48px; }
  header .state { margin-left: 0; flex-basis: 100%; }
  .facts, .provider { grid-template-columns: 1fr; }
}
`
