import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { SignInRefused } from './refusal.ts'

/** OWASP's first choice for argon2id where memory is not plenty: 19 MiB, two passes, one lane. Off the event loop. */
const memory = 19_456
const passes = 2
const saltBytes = 16
const hashBytes = 32

/** Each takes 19 MiB and a core for 50 ms: a flood of sign-ins waits in line, and beyond the line it is refused. */
const mostAtOnce = 2
const mostWaiting = 32

const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d)\$([\w+/]+)\$([\w+/]+)$/

/** The PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`, so that parameters can change one day. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await derive(password, { memory, passes, parallelism: 1, nonce: salt, tagLength: hashBytes })
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${unpadded(salt)}$${unpadded(hash)}`
}

/** Costs the same whether there is a hash or not: time must not tell which names exist. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, m, t, p, salt, hash] = form.exec(stored ?? '') ?? []
  if (salt === undefined || hash === undefined) {
    await hashPassword(password)
    return false
  }
  const expected = Buffer.from(hash, 'base64')
  const found = await derive(password, {
    memory: Number(m),
    passes: Number(t),
    parallelism: Number(p),
    nonce: Buffer.from(salt, 'base64'),
    tagLength: expected.length,
  })
  return timingSafeEqual(found, expected)
}

let running = 0
const waiting: (() => void)[] = []

async function derive(password: string, parameters: Omit<Argon2Parameters, 'message'>): Promise<Buffer> {
  if (running >= mostAtOnce) {
    if (waiting.length >= mostWaiting)
      throw new SignInRefused('throttled', 'Too many sign-ins at once.', 'Try again in a moment.', 5)
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running++
  try {
    // One text, however a keyboard composes its letters.
    return await promisify(argon2)('argon2id', { ...parameters, message: password.normalize('NFC') })
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

export const shortestPassword = 12
export const longestPassword = 256

/** Throws `SignInRefused` for what is too easily guessed. Length is what counts; kinds of characters do not. */
export function refuseWeak(password: string): void {
  const hint = `Choose at least ${shortestPassword} characters; several words are fine.`
  if (password.length < shortestPassword) throw new SignInRefused('invalid', 'The password is too short.', hint)
  if (password.length > longestPassword)
    throw new SignInRefused('invalid', 'The password is too long.', `Choose at most ${longestPassword} characters.`)
  if (new Set(password.toLowerCase()).size < 5)
    throw new SignInRefused('invalid', 'The password is too easy to guess.', hint)
}
