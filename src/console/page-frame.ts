import { createHash } from 'node:crypto'
import { type Markup, markup } from './markup.ts'
import { style } from './page-style.ts'

const css = markup`<style>${style}</style>`
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%234f5bd5'/%3E%3Cpath d='M4 8h8M9 5l3 3-3 3' fill='none' stroke='%23fff' stroke-width='1.6'/%3E%3C/svg%3E"

/** The one style that the content security policy lets in. */
export const stylePolicy = `'sha256-${createHash('sha256').update(style.source).digest('base64')}'`

/** A whole page around what it says. */
export function renderPage(title: string, content: Markup): string {
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon}">
${css}
</head>
<body>
<main>${content}</main>
</body>
</html>
`
  return page.source
}
