/** Texts that are made so that some step of a parser costs much. `size`: about so many bytes. */

export const MB = 1_000_000

export function fill(size: number, one: string): string {
  return one.repeat(Math.max(1, Math.floor(size / Buffer.byteLength(one))))
}

const object = (members: string) => `{${members}"z":1}`
const list = (items: string) => `[${items}1]`

/** JSON values by the way in which they are costly. */
export const values: Record<string, (size: number) => string> = {
  'plain keys': (size) => object(fill(size, '"abc":1,')),
  'escaped keys': (size) => object(fill(size, '"\\u0061b":1,')),
  'keys beyond ASCII': (size) => object(fill(size, '"é0":1,')),
  'keys as long as a wanted one': (size) => object(fill(size, '"modé":1,')),
  'objects of many keys': (size) => list(fill(size, `${object(fill(150_000, '"usage":1,'))},`)),
  'long keys': (size) => object(fill(size, `"${'é'.repeat(3000)}":1,`)),
  'empty objects': (size) => list(fill(size, '{},')),
  'empty texts': (size) => list(fill(size, '"",')),
  deep: (size) => `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
  'deep objects': (size) => `${fill(size / 2, '{"a":')}1${'}'.repeat(Math.floor(size / 10))}`,
  'one text': (size) => `"${'a'.repeat(size)}"`,
  'one text of escapes': (size) => `"${fill(size, '\\"')}"`,
  'one text of \\u escapes': (size) => `"${fill(size, '\\u0061')}"`,
  'one text of backslashes': (size) => `"${fill(size, '\\\\')}"`,
  'one text beyond ASCII': (size) => `"${fill(size, 'é')}"`,
  'one text of e-mail addresses': (size) => `"${fill(size, 'a.b@c.de ')}"`,
  'one text that begins addresses': (size) => `"${fill(size, 'a.b-c@')}"`,
  'one text of digits': (size) => `"${fill(size, '4111 1111 1111 1111 ')}"`,
  'one text of base64': (size) => `"${'QUJD'.repeat(size / 4)}"`,
  numbers: (size) => list(fill(size, '1,')),
  'long numbers': (size) => list(fill(size, `${'9'.repeat(4000)},`)),
  'one number': (size) => '1'.repeat(size),
  spaces: (size) => list(' '.repeat(size)),
  'lines of spaces': (size) => list(fill(size, '\r\n\t ')),
}

/** In pieces, so that the sender's own memory is no limit and the reader's turns are many. */
export function* cut(text: string | Buffer, bytes: number): Generator<Buffer> {
  const whole = Buffer.from(text as string)
  for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes)
}
