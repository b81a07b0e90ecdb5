/**
 * Takes account, project and organisation ids out of a provider's error body (product.md section 2, item 4 of the
 * closed list), and key fragments, which vendors quote in their messages. Everything else keeps its bytes.
 */
export interface ScrubRule {
  /** Global; every alternative is linear in the body's length. */
  pattern: RegExp
  /** Keeps what stands before and after the id: `$<before>***$<after>`. */
  replacement: string
}

const mask = '***'
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/** JSON members that name an account, in any vendor's spelling; their text value is masked whole. */
const accountMember: ScrubRule = {
  pattern:
    /(?<before>"(?:organi[sz]ation|org|project|account|team|workspace|tenant)_?(?:id|uuid|name|number)"\s*:\s*")[^"\\]+(?=")/gi,
  replacement: `$<before>${mask}`,
}

/** "organization (5d3c…)", "team id: 5d3c…": an account's UUID, told from other UUIDs by the word right before it. */
const accountUuid: ScrubRule = {
  pattern: new RegExp(
    `(?<before>\\b(?:organi[sz]ation|org|workspace|account|team|project)(?:[ _]?id)?[\\s:=#('\`"\\\\]{1,4})${uuid}`,
    'gi',
  ),
  replacement: `$<before>${mask}`,
}

const quotedKey: ScrubRule = { pattern: /\b(?:sk|gsk|xai)-[A-Za-z0-9_*-]{6,}/g, replacement: mask }

/** A signed token, as identity providers give them out. */
const signedToken: ScrubRule = { pattern: /(?<![\w.-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, replacement: mask }

export const openaiRules: readonly ScrubRule[] = [
  { pattern: /\b(?:org-[A-Za-z0-9]{6,}|proj_[A-Za-z0-9]{6,}|acct_[A-Za-z0-9]{6,})/g, replacement: mask },
  // "Rate limit reached for gpt-5 in organization Example Ltd on tokens per min".
  { pattern: /(?<before>\bin organization )(?!\*)[^"\\]{1,80}?(?= on [a-z])/g, replacement: `$<before>${mask}` },
  { pattern: /(?<before>"(?:organization|project)"\s*:\s*")[^"\\*]+(?=")/g, replacement: `$<before>${mask}` },
  accountMember,
  accountUuid,
  quotedKey,
]

export const azureRules: readonly ScrubRule[] = [
  ...openaiRules,
  signedToken,
  { pattern: new RegExp(`(?<before>/?subscriptions/)${uuid}`, 'gi'), replacement: `$<before>${mask}` },
  { pattern: /(?<before>\/resourceGroups\/)[^/"\\\s]+/gi, replacement: `$<before>${mask}` },
  // "Resource 'my-company-openai' is blocked", "https://my-company.openai.azure.com/".
  {
    pattern: /(?<![a-z0-9-])[a-z0-9-]{1,63}(?=\.(?:openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.)/gi,
    replacement: mask,
  },
  {
    pattern: new RegExp(
      `(?<before>\\b(?:tenant|subscription|oid|appid|client)(?:[ _]?id)?[\\s:=#('\`"\\\\]{1,4})${uuid}`,
      'gi',
    ),
    replacement: `$<before>${mask}`,
  },
]

export const anthropicRules: readonly ScrubRule[] = [
  { pattern: /\b(?:org|wrkspc|acct)_[A-Za-z0-9]{6,}/g, replacement: mask },
  accountMember,
  accountUuid,
  quotedKey,
]

export const geminiRules: readonly ScrubRule[] = [
  // "consumer": "projects/123", "projects/my-app"; a path in a documentation link has a slash or a letter before it.
  { pattern: /(?<before>\bprojects\/)\d+/g, replacement: `$<before>${mask}` },
  { pattern: /(?<before>(?<![\w./-])projects\/)[a-z][a-z0-9-]{4,28}[a-z0-9]/g, replacement: `$<before>${mask}` },
  {
    pattern: /(?<before>\bproject(?:_number|_id)?[:= #]{1,2})(?:\d{4,}|[a-z][a-z0-9-]*-\d{4,})/gi,
    replacement: `$<before>${mask}`,
  },
  { pattern: /(?<before>"consumer"\s*:\s*")(?!projects\/)[^"\\*]+(?=")/g, replacement: `$<before>${mask}` },
  { pattern: /\bAIza[A-Za-z0-9_-]{20,}/g, replacement: mask },
  { pattern: /(?<before>"containerInfo"\s*:\s*")[^"\\*]+(?=")/g, replacement: `$<before>${mask}` },
  accountMember,
]

export const bedrockRules: readonly ScrubRule[] = [
  // Who calls: "User: arn:aws:iam::123456789012:user/gateway is not authorized to perform".
  { pattern: /\barn:aws[a-z-]*:(?:iam|sts)::[^\s"',\\]+/g, replacement: mask },
  { pattern: /(?<before>\barn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:)\d{12}(?=:)/g, replacement: `$<before>${mask}` },
  { pattern: /(?<before>\baccount(?:[ _]?id)?[\s:=#('`"\\]{1,4})\d{12}\b/gi, replacement: `$<before>${mask}` },
  { pattern: /\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b/g, replacement: mask },
  accountMember,
]

export const vertexRules: readonly ScrubRule[] = [
  ...geminiRules,
  { pattern: /(?<before>\.googleapis\.com\/projects\/)[^/"\\\s]+/g, replacement: `$<before>${mask}` },
  { pattern: /(?<![a-z0-9._-])[a-z0-9._-]{1,64}@[a-z0-9.-]{1,128}?\.gserviceaccount\.com\b/gi, replacement: mask },
  signedToken,
  { pattern: /\bya29\.[A-Za-z0-9._-]+/g, replacement: mask },
]

/** The same buffer when no rule applies. Latin-1 keeps every byte through the round trip, whatever the encoding was. */
export function scrubWith(rules: readonly ScrubRule[], body: Buffer): Buffer {
  const before = body.toString('latin1')
  let text = before
  for (const rule of rules) text = text.replace(rule.pattern, rule.replacement)
  return text === before ? body : Buffer.from(text, 'latin1')
}
