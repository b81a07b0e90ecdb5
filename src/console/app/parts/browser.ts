const browsers: [form: RegExp, name: string][] = [
  // Browsers whose user agent also names another one come first.
  [/\bEdg(?:e|A|iOS)?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\bSamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\w+ )?Safari\//, 'Safari'],
]
const systems: [form: RegExp, name: string][] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows NT\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** `Chrome 156 on Linux`; what says nothing that is known stays as it is. */
export function describeBrowser(userAgent: string): string {
  const [form, name] = browsers.find(([each]) => each.test(userAgent)) ?? []
  if (form === undefined || name === undefined) return userAgent
  const version = form.exec(userAgent)?.[1] ?? ''
  const system = systems.find(([each]) => each.test(userAgent))?.[1]
  return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`
}
