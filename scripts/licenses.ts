import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Metafile } from 'esbuild'
import type { Notice } from '../src/daemon/commands/licenses-command.ts'

const root = join(import.meta.dirname, '..')
const noticeFile = /^(licen[cs]e|copying|notice|copyrightnotice)(\.\w+)?$/i

/** Packages that come without their license's text, with the text that their repository has. */
const missingTexts: Record<string, string> = {
  'yoga-layout': `MIT License

Copyright (c) Facebook, Inc. and its affiliates.

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
`,
}

const sqliteText = `All of the code and documentation in SQLite has been dedicated to the public domain by the authors.

The author disclaims copyright to this source code. In place of a legal notice, here is a blessing:

   May you do good and not evil.
   May you find forgiveness for yourself and forgive others.
   May you share freely, never taking more than you give.
`

/**
 * The notices of everything that an executable holds: spgw first, then Node and SQLite, then each package that a file of the
 * bundles is made from. Throws for a package without a license text.
 */
export function collectNotices(metafiles: readonly Metafile[], platform: string): Notice[] {
  const directories = new Set(metafiles.flatMap(({ outputs }) => Object.values(outputs).flatMap(packagesOf)))
  // Its start-up code goes into the executable beside the bundles.
  directories.add(join(root, 'node_modules/@yao-pkg/pkg'))
  const packages = new Map(
    [...directories].map(readNotice).map((notice) => [`${notice.name}@${notice.version}`, notice]),
  )
  const sorted = [...packages.values()].sort(
    (a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'),
  )
  return [readNotice(root), nodeNotice(platform), sqliteNotice(), ...sorted]
}

function packagesOf({ inputs }: Metafile['outputs'][string]): string[] {
  return Object.keys(inputs).flatMap((input) => {
    // A plugin's input has its namespace in front: `small-zod:/…/node_modules/zod/…`.
    const found = /^(?:[a-z-]+:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]
    return found === undefined ? [] : [resolve(root, found)]
  })
}

function readNotice(directory: string): Notice {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const files = readdirSync(directory).filter((file) => noticeFile.test(file))
  const texts = files.sort().map((file) => readFileSync(join(directory, file), 'utf8').trim())
  const text = texts.length > 0 ? texts.join('\n\n') : (missingTexts[name]?.trim() ?? readmeText(directory))
  if (typeof license !== 'string' || text === undefined)
    throw new Error(`${directory} names no license, or has no text of it`)
  return { name, version, license, text }
}

/** Some have it as the last part of their readme. */
function readmeText(directory: string): string | undefined {
  const readme = readdirSync(directory).find((file) => /^readme\.md$/i.test(file))
  const text = readme === undefined ? '' : readFileSync(join(directory, readme), 'utf8')
  const [, part] = text.split(/^#+ licen[cs]e\s*$/im)
  return part === undefined || part.length < 200 ? undefined : part.trim()
}

function nodeNotice(platform: string): Notice {
  const places = [join(root, `node_modules/node-${platform}`), dirname(dirname(process.execPath))]
  const file = places.map((place) => join(place, 'LICENSE')).find((path) => existsSync(path))
  if (file === undefined) throw new Error(`Node's LICENSE is in none of ${places.join(', ')}`)
  return { name: 'Node.js', version: process.versions.node, license: 'MIT', text: readFileSync(file, 'utf8').trim() }
}

function sqliteNotice(): Notice {
  const header = readFileSync(join(root, 'node_modules/better-sqlite3/deps/sqlite3/sqlite3.h'), 'utf8')
  const version = /^#define SQLITE_VERSION\s+"(.+)"/m.exec(header)?.[1]
  if (version === undefined) throw new Error('sqlite3.h does not say its version')
  return { name: 'SQLite', version, license: 'blessing', text: sqliteText.trim() }
}
