"""The look of the page of `uploader.report.html`: one style sheet, light and dark, from a phone's width to a desk's."""

STYLE = """
:root { color-scheme: light dark;
  --paper: #fbfbfa; --card: #fff; --ink: #1c1e21; --soft: #5c636b; --rule: #dfe2e5; --track: #e6e9ec; --link: #0a58ca;
  --full: #1a7f4b; --lines: #2f6db5; --functions: #9a6700; --none: #6e7781; --bad: #b42318; --badpaper: #fdecea; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171a; --card: #1c2024; --ink: #e6e8ea; --soft: #a0a8b0; --rule: #31373d; --track: #31373d; --link: #7ab7ff;
  --full: #4cc38a; --lines: #6cb2f5; --functions: #e0b341; --none: #98a1aa; --bad: #ff8b80; --badpaper: #3a1f1d; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 76rem; margin: 0 auto; padding: 1.25rem 1rem 3rem }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 .25rem }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
p { margin: .25rem 0 }
.soft { color: var(--soft) }
a { color: var(--link) }
.name, code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; overflow-wrap: anywhere }
.trouble { background: var(--badpaper); border-left: 4px solid var(--bad); border-radius: 4px; padding: .6rem .9rem; margin: 1rem 0 }
.trouble strong { color: var(--bad) }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(6.4rem, 1fr)); gap: .5rem; margin: 1rem 0; padding: 0 }
.tiles div { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: .45rem .7rem }
.tiles dt { color: var(--soft); font-size: .85rem }
.tiles dd { margin: 0; font-size: 1.1rem; white-space: nowrap; font-variant-numeric: tabular-nums }
.mix { display: flex; height: .8rem; border-radius: .4rem; overflow: hidden; background: var(--track); gap: 2px }
.mix span { min-width: 3px }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .4rem 0 0; padding: 0; list-style: none; font-size: .9rem }
.key i, .mix span, .bar i { background: var(--none) }
.key i { display: inline-block; width: .75rem; height: .75rem; border-radius: 3px; margin-right: .4rem }
.key i.full, .mix .full, .bar i.full { background: var(--full) }
.key i.lines, .mix .lines, .bar i.lines { background: var(--lines) }
.key i.functions, .mix .functions, .bar i.functions { background: var(--functions) }
.key i.bad, .mix .bad { background: var(--bad) }
.todo { padding-left: 1.2rem; margin: .3rem 0 }
.todo li { margin: .35rem 0 }
details { border: 1px solid var(--rule); border-radius: 8px; background: var(--card); margin: .7rem 0 }
details details { margin: 0; border-width: 1px 0 0; border-radius: 0 0 8px 8px }
summary { cursor: pointer; padding: .7rem .9rem; font-weight: 600 }
summary:focus-visible { outline: 3px solid var(--link); outline-offset: -3px; border-radius: 8px }
summary b { font-weight: 400; color: var(--soft); margin-left: .4rem }
ol.files { list-style: none; margin: 0; padding: 0 }
ol.files > li { border-top: 1px solid var(--rule); padding: .6rem .9rem; display: grid; gap: .15rem .9rem;
  grid-template-columns: 6.2rem minmax(0, 1fr) 13.5rem }
ol.later > li { content-visibility: auto; contain-intrinsic-size: auto 5.5rem }
[hidden] { display: none !important }
#find { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .6rem 0; color: var(--soft); font-size: .9rem }
#find input, #find select { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--rule);
  border-radius: 6px; padding: .3rem .5rem; max-width: 100% }
#find input { width: 20rem }
.tag { font-weight: 600; font-size: .88rem }
.tag small { display: block; font-weight: 400; color: var(--soft) }
.tag.full { color: var(--full) } .tag.lines { color: var(--lines) } .tag.functions { color: var(--functions) }
.tag.none { color: var(--none) } .tag.bad { color: var(--bad) }
.what p { font-size: .9rem }
.what .fix::before { content: "\\2192\\00a0" }
.what .id { font-size: .8rem; color: var(--soft); overflow-wrap: anywhere }
.bars { display: grid; grid-template-columns: 4.6rem 1fr 3.4rem; gap: .1rem .5rem; align-items: center; align-content: start;
  font-size: .82rem; color: var(--soft) }
.bars b { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; color: var(--ink) }
.bar { height: .5rem; border-radius: .25rem; background: var(--track); overflow: hidden }
.bar i { display: block; height: 100% }
.bars .sizes { grid-column: 1 / -1 }
footer { margin-top: 2rem; color: var(--soft); font-size: .85rem }
@media (max-width: 44rem) {
  ol.files > li { grid-template-columns: minmax(0, 1fr) }
  .tag small { display: inline; margin-left: .4rem }
  main { padding: 1rem .7rem 2rem } h1 { font-size: 1.2rem }
}
@media print {
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
  details:not([open]) > * { display: block } body { background: #fff } #find { display: none }
  details::details-content { content-visibility: visible; display: block }
  ol.files > li { content-visibility: visible; break-inside: avoid }
}
"""
