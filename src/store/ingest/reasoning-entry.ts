/** Whether that is an entry of sealed reasoning as the gateway writes it. */
export function isReasoningEntry(entry: object): boolean {
  const texts = ['requestId', 'name', 'sealed'].every((name) => typeof Reflect.get(entry, name) === 'string')
  return texts && Number.isSafeInteger(Reflect.get(entry, 'expiresAt'))
}
