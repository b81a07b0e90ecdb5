/** Where a call to the console came from, and to. */
export interface RequestOrigin {
  /** The console as the browser sees it: `https://console.example.com`. */
  origin: string
  /** Of the client. */
  address: string
  userAgent: string
}

const longestUserAgent = 200

export function cutUserAgent(text: string): string {
  return text.slice(0, longestUserAgent)
}
