const usualDimensions = 256
const mostDimensions = 4096

/** A unit vector from the text's words: the same text gives the same vector, texts that share words are near each other. */
export function embedText(text: string, dimensions: number | null): Float32Array<ArrayBuffer> {
  const vector = new Float32Array(Math.min(dimensions ?? usualDimensions, mostDimensions))
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['']) {
    const hash = hashWord(word)
    const place = hash % vector.length
    vector[place] = (vector[place] ?? 0) + (hash & 0x80000000 ? -1 : 1)
  }
  const length = Math.hypot(...vector)
  // Opposite words can cancel each other out; a vector of zeros has no direction and breaks cosine distance.
  if (length === 0) vector[0] = 1
  return length === 0 ? vector : vector.map((value) => value / length)
}

/** FNV-1a, 32 bits. */
function hashWord(word: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < word.length; index++) hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
