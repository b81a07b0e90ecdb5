/**
 * AssemblyScript. Skips one JSON value that is given piece by piece, with 16 bytes of a string at a time: what src/core/json-scan.ts
 * does in JavaScript for small ones, with the same grammar, places of faults and watched names. test/core/large-value.test.ts
 * holds the two to the same.
 */

/** Codes of `run`. */
const done: i32 = 0
const more: i32 = 1
const wrong: i32 = 2
/** Not from `run`. */
const goOn: i32 = 3

/** What lies where in memory; the host asks. */
const stackAt: usize = 1024
const stackBytes: i32 = 10_000
const namesAt: usize = 12 * 1024
const inputAt: usize = 16 * 1024
/** A look at 16 bytes may go beyond them, and must not leave the memory. */
const inputBytes: i32 = 64 * 1024

export function inputPlace(): usize {
  return inputAt
}

export function inputSize(): i32 {
  return inputBytes
}

export function namesPlace(): usize {
  return namesAt
}

const expectValue: i32 = 0
const expectValueOrClose: i32 = 1
const expectKey: i32 = 2
const expectKeyOrClose: i32 = 3
const expectColon: i32 = 4
const expectCommaOrClose: i32 = 5

let depth: i32 = 0
let expect: i32 = expectValue
/** The next piece goes on within a string; `carry`: its first byte is escaped. */
let inString: bool = false
let carry: i32 = 0
let nameCount: i32 = 0
/** A key of fewer bytes hides no watched name. */
let shortestHidden: i32 = 0
let saw: bool = false
/** After `run`: the end of the value, the place of the fault, or the place from which the next piece must be given. */
let at: usize = 0
/** Where the token that was read last ends. */
let cursor: usize = 0
let escapes: bool = false

/** Before each value. The names lie at `namesPlace`, in small letters, each as a byte for its length and its bytes. */
export function begin(names: i32, shortest: i32): void {
  depth = 0
  expect = expectValue
  inString = false
  nameCount = names
  shortestHidden = shortest
  saw = false
}

export function place(): i32 {
  return <i32>(at - inputAt)
}

export function seen(): bool {
  return saw
}

/** `last`: nothing comes after these bytes. */
export function run(length: i32, last: bool): i32 {
  const stop = inputAt + <usize>length
  let p = inputAt
  if (inString) {
    const code = readString(p, stop, last, carry)
    if (code !== goOn) return code
    p = cursor
    inString = false
    expect = expectCommaOrClose
    if (depth === 0) return end(p)
  }
  while (true) {
    p = skipSpace(p, stop)
    if (p >= stop) return stopAt(stop, last)
    const code = step(p, stop, last)
    if (code !== goOn) return code
    p = cursor
    if (depth === 0 && expect === expectCommaOrClose) return end(p)
  }
}

/** A token, or several that usually come together; `cursor` is where they end. */
function step(p: usize, stop: usize, last: bool): i32 {
  const byte = load<u8>(p)
  if (byte === 0x22) {
    if (expect <= expectValueOrClose) return readValueString(p, stop, last)
    if (expect === expectKey || expect === expectKeyOrClose) return readMember(p, stop, last)
    return fail(p)
  }
  if (byte === 0x2c) {
    if (expect !== expectCommaOrClose) return fail(p)
    if (top() === 0x7b) {
      expect = expectKey
      if (p + 1 < stop && load<u8>(p + 1) === 0x22) return readMember(p + 1, stop, last)
    } else expect = expectValue
  } else if (byte === 0x7b || byte === 0x5b) {
    if (expect > expectValueOrClose || depth === stackBytes) return fail(p)
    store<u8>(stackAt + depth++, byte)
    if (byte === 0x7b) {
      expect = expectKeyOrClose
      if (p + 1 < stop && load<u8>(p + 1) === 0x22) return readMember(p + 1, stop, last)
    } else expect = expectValueOrClose
  } else if (byte === 0x7d || byte === 0x5d) {
    const mayClose = expect === expectCommaOrClose || expect === expectKeyOrClose || expect === expectValueOrClose
    // An opening bracket is two before its closing one.
    if (!mayClose || depth === 0 || top() !== byte - 2) return fail(p)
    depth--
    expect = expectCommaOrClose
  } else if (byte === 0x3a) {
    if (expect !== expectColon) return fail(p)
    expect = expectValue
  } else {
    if (expect > expectValueOrClose) return fail(p)
    const code = byte < 0x40 ? readNumber(p, stop, last) : readLiteral(p, stop, last)
    if (code === goOn) expect = expectCommaOrClose
    return code
  }
  cursor = p + 1
  return goOn
}

function top(): u8 {
  return depth === 0 ? 0 : load<u8>(stackAt + depth - 1)
}

function end(p: usize): i32 {
  at = p
  return done
}

function fail(p: usize): i32 {
  at = p
  return wrong
}

/** All before `p` has been read; the next piece begins with it. */
function stopAt(p: usize, last: bool): i32 {
  at = p
  return last ? wrong : more
}

/** The token is read anew with the next piece. */
function again(p: usize): i32 {
  at = p
  return more
}

function skipSpace(p: usize, stop: usize): usize {
  while (p < stop) {
    const byte = load<u8>(p)
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break
    p++
  }
  return p
}

function readValueString(p: usize, stop: usize, last: bool): i32 {
  const code = readString(p + 1, stop, last, 0)
  if (code === goOn) expect = expectCommaOrClose
  else if (code === more) inString = true
  return code
}

/** A key, whole or not at all, since it may be a watched name; and what stands right behind it. */
function readMember(p: usize, stop: usize, last: bool): i32 {
  escapes = false
  const code = readString(p + 1, stop, last, 0)
  if (code === more) return again(p)
  if (code !== goOn) return code
  if (nameCount > 0 && !saw) look(p + 1, <i32>(cursor - p) - 2)
  expect = expectColon
  if (cursor + 1 >= stop || load<u8>(cursor) !== 0x3a) return goOn
  expect = expectValue
  cursor++
  return load<u8>(cursor) === 0x22 ? readValueString(cursor, stop, last) : goOn
}

function look(start: usize, length: i32): void {
  if (length >= shortestHidden && (escapes || folds(start, length))) {
    saw = true
    return
  }
  let name = namesAt
  for (let index = 0; index < nameCount; index++) {
    const size = <i32>load<u8>(name)
    if (size === length && isSpelledAs(start, name + 1, size)) {
      saw = true
      return
    }
    name += 1 + size
  }
}

/** In any letters. */
function isSpelledAs(key: usize, name: usize, size: i32): bool {
  for (let index: usize = 0; index < <usize>size; index++) {
    if ((load<u8>(key + index) | 0x20) !== (load<u8>(name + index) | 0x20)) return false
  }
  return true
}

/** A character beyond ASCII stands in it that folds to one of its letters. */
function folds(start: usize, length: i32): bool {
  for (let at = start; at < start + <usize>length; at++) {
    const byte = load<u8>(at)
    if (byte === 0xc5 && load<u8>(at + 1) === 0xbf) return true
    if (byte === 0xe2 && load<u8>(at + 1) === 0x84 && load<u8>(at + 2) === 0xaa) return true
  }
  return false
}

/** From `p` within a string, whose first byte is escaped where `carried`, to the byte after its closing quote. */
function readString(p: usize, stop: usize, last: bool, carried: i32): i32 {
  const quotes = i8x16.splat(0x22)
  const backslashes = i8x16.splat(0x5c)
  for (; p < stop; p += 16) {
    const bytes = v128.load(p)
    let found = i8x16.bitmask(i8x16.eq(bytes, quotes))
    let slashes = i8x16.bitmask(i8x16.eq(bytes, backslashes))
    const before = carried
    if ((slashes | carried) !== 0) {
      // Which bytes a backslash makes another of, those of odd runs of them: simdjson's find_escaped, for 16 bits.
      slashes &= ~carried
      const follows = (slashes << 1) | carried
      const sums = (slashes & 0xaaaa & ~follows) + slashes
      carried = (sums >> 16) & 1
      found &= ~((0x5555 ^ (sums << 1)) & follows)
    }
    if (found !== 0) {
      const quote = p + <usize>ctz(found)
      // What lies behind the end is of some earlier piece.
      if (quote >= stop) return part(p, stop, last, before)
      if ((slashes & ((found & -found) - 1)) !== 0) escapes = true
      cursor = quote + 1
      return goOn
    }
    if (slashes !== 0) escapes = true
    if (p + 16 > stop) return part(p, stop, last, before)
  }
  return part(p, stop, last, carried)
}

/** The string goes on with the next piece, from `p` on. */
function part(p: usize, stop: usize, last: bool, carried: i32): i32 {
  carry = carried
  return last ? fail(stop) : again(p)
}

function readLiteral(p: usize, stop: usize, last: bool): i32 {
  const first = load<u8>(p)
  // The letters after the first, the next one lowest.
  let rest: u32 = 0
  let count: usize = 3
  if (first === 0x74) rest = 0x657572
  else if (first === 0x6e) rest = 0x6c6c75
  else if (first === 0x66) {
    rest = 0x65736c61
    count = 4
  } else return fail(p)
  for (let index: usize = 1; index <= count; index++) {
    if (p + index >= stop) return last ? fail(p + index) : again(p)
    if (load<u8>(p + index) !== <u8>rest) return fail(p + index)
    rest >>= 8
  }
  cursor = p + 1 + count
  return goOn
}

function readNumber(p: usize, stop: usize, last: bool): i32 {
  let index = load<u8>(p) === 0x2d ? p + 1 : p
  const whole = index < stop && load<u8>(index) === 0x30 ? index + 1 : skipDigits(index, stop)
  if (whole === index) return index >= stop && !last ? again(p) : fail(index)
  index = whole
  if (index < stop && load<u8>(index) === 0x2e) {
    const fraction = skipDigits(index + 1, stop)
    if (fraction === index + 1) return fraction >= stop && !last ? again(p) : fail(fraction)
    index = fraction
  }
  if (index < stop && (load<u8>(index) | 0x20) === 0x65) {
    let first = index + 1
    if (first < stop && (load<u8>(first) === 0x2b || load<u8>(first) === 0x2d)) first++
    index = skipDigits(first, stop)
    if (index === first) return index >= stop && !last ? again(p) : fail(index)
  }
  // More of its digits may come.
  if (index >= stop && !last) return again(p)
  cursor = index
  return goOn
}

function skipDigits(p: usize, stop: usize): usize {
  while (p < stop) {
    const byte = load<u8>(p)
    if (byte < 0x30 || byte > 0x39) break
    p++
  }
  return p
}
