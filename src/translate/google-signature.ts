/** What Google's own clients send for a call that another model made. Source: wire/translate.md, section 7. */
export const withoutSignature = 'skip_thought_signature_validator'
