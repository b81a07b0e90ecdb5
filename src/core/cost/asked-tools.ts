/** What a request lets the provider's own tools do that costs something besides the tokens of its model. */
export interface AskedTools {
  /** Searches of the web: as many as it allows, else one for each tool that searches. */
  searches: number
  /** Calls of a search in the provider's own stores, and sessions of its code interpreter. Absent: none. */
  fileSearches?: number
  containers?: number
  images: number
  /** As the request names it; null: it leaves it to the provider. */
  imageModel: string | null
  /** `SIZE` or `SIZE/QUALITY`; null: whatever costs most. */
  imageSize: string | null
}

/** For how long a request has its prompt written to the provider's cache: the rates differ. */
export type CacheWrites = 'short' | 'long'

/** The model of the tool that makes images, if nobody names one. */
export const usualImageModel = 'gpt-image-2'

/** The size of an image as a request asks for it. Without a size, the model chooses. */
export function imageSizeOf(size: string | null, quality: string | null): string | null {
  return quality === null ? size : `${size ?? 'auto'}/${quality}`
}

/** Adds up what several requests ask for. */
export function addTools(one: AskedTools | undefined, other: AskedTools | null): AskedTools | undefined {
  if (one === undefined || other === null) return one ?? other ?? undefined
  const [first, second] = one.images === 0 ? [other, one] : [one, other]
  const isAlike = second.images === 0 || first.imageSize === second.imageSize
  return {
    searches: one.searches + other.searches,
    fileSearches: (one.fileSearches ?? 0) + (other.fileSearches ?? 0),
    containers: (one.containers ?? 0) + (other.containers ?? 0),
    images: one.images + other.images,
    imageModel: first.imageModel,
    imageSize: isAlike ? first.imageSize : null,
  }
}
