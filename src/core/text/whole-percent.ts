/** How much of a limit is used. Rounded down, of billionths: 0.024 of 0.03 is 80%, and a little less in binary. */
export function wholePercent(used: number, limit: number): number {
  const [part, whole] = [used, limit].map((amount) => BigInt(Math.round(amount * 1e9))) as [bigint, bigint]
  return whole === 0n ? 100 : Number((part * 100n) / whole)
}
