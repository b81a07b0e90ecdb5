import { type Detection, type Detector, findForm } from './detector.ts'

const localCharacter = /[\p{L}\p{N}._%+'-]/u
const localEdge = /[._%+'-]/
const domainForm = /[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}\.){1,8}\p{L}[\p{L}\p{N}-]{0,61}[\p{L}\p{N}]/uy
const longestLocal = 64

/** Searched from the at sign in both directions: a pattern that begins at every letter would read long words again and again. */
export const emailAddresses: Detector = (text) => {
  const found: Detection[] = []
  let behind = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > behind && at - start < longestLocal && localCharacter.test(text[start - 1] ?? '')) start--
    while (start < at && localEdge.test(text[start] ?? '')) start++
    domainForm.lastIndex = at + 1
    if (start === at || !domainForm.test(text)) continue
    behind = domainForm.lastIndex
    found.push({ start, end: behind, note: 'email address' })
  }
  return found
}

/** E.164: a plus sign and 8 to 15 digits, with the usual separators between them. */
const phoneForm = /(?<![\p{L}\p{N}+])\+[1-9](?:[ .()/-]{0,2}\d){7,14}(?!\d)/gu

export const phoneNumbers: Detector = (text, from = 0) => findForm(text, from, phoneForm, 'phone number')

/** No card number begins with 0, 1, 7, 8 or 9; times in milliseconds begin with 1. */
const cardForm = /(?<!\d)(?<!\d[.,])[2-6](?:[ -]?\d){12,}/g
const shortestCard = 13
const longestCard = 19

/** In a run of digits, with or without gaps: from each group, the longest run of whole groups that passes the Luhn check. */
export const cardNumbers: Detector = (text) => {
  const found: Detection[] = []
  for (const { index, 0: run } of text.matchAll(cardForm)) {
    for (let start = 0; start < run.length; ) {
      const end = findCard(run, start)
      if (end !== null) found.push({ start: index + start, end: index + end, note: 'card number' })
      start = nextGroup(run, end ?? start)
    }
  }
  return found
}

/** The end of the longest card number that begins here; null: none. */
function findCard(run: string, start: number): number | null {
  if (!/[2-6]/.test(run[start] ?? '')) return null
  let digits = ''
  let best: number | null = null
  for (let position = start; position < run.length && digits.length <= longestCard; position++) {
    if (isDigit(run[position])) digits += run[position]
    const wholeGroup = !isDigit(run[position + 1])
    const fits = digits.length >= shortestCard && digits.length <= longestCard
    if (wholeGroup && fits && passesLuhn(digits)) best = position + 1
  }
  return best
}

function nextGroup(run: string, from: number): number {
  let position = from
  while (position < run.length && isDigit(run[position])) position++
  return position + 1
}

const isDigit = (character: string | undefined) => character !== undefined && character >= '0' && character <= '9'

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 0; place < digits.length; place++) {
    const digit = digits.charCodeAt(digits.length - 1 - place) - 48
    const counted = place % 2 === 0 ? digit : digit * 2
    sum += counted > 9 ? counted - 9 : counted
  }
  return sum % 10 === 0
}

const accountForm = /(?<![0-9A-Za-z])[A-Za-z]{2}\d{2}(?=[ 0-9A-Za-z])/g
/** Length of an account number by country (registry of ISO 13616). */
const accountLengths = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24
  FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32
  LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24
  RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)

export const accountCountries: ReadonlySet<string> = new Set(accountLengths.keys())

export const accountNumbers: Detector = (text, from = 0) =>
  findForm(text, from, accountForm, 'IBAN', ({ index }) => {
    const length = accountLengths.get(text.slice(index, index + 2).toUpperCase())
    const end = length === undefined ? null : readGroups(text, index, length)
    if (end === null) return null
    return passesCheck(text.slice(index, end).replaceAll(' ', '').toUpperCase()) ? { start: index, end } : null
  })

/** The index after exactly that many letters and digits, with single spaces between them; null: there are fewer or more. */
function readGroups(text: string, start: number, length: number): number | null {
  let position = start
  for (let read = 0; read < length; position++) {
    const character = text[position] ?? ''
    if (/[0-9A-Za-z]/.test(character)) read++
    else if (character !== ' ' || text[position - 1] === ' ') return null
  }
  return /[0-9A-Za-z]/.test(text[position] ?? '') ? null : position
}

/** ISO 7064, mod 97-10. */
function passesCheck(account: string): boolean {
  let rest = 0
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
