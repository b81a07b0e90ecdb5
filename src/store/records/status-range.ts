/** `429` or `4xx`; a text that is neither matches nothing. */
export function statusRange(status: string): [number, number] {
  const hundreds = /^([1-5])xx$/i.exec(status)?.[1]
  if (hundreds !== undefined) return [Number(hundreds) * 100, Number(hundreds) * 100 + 99]
  const exact = /^\d{3}$/.test(status) ? Number(status) : -1
  return [exact, exact]
}
