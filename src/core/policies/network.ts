const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`)

/** Whether a text is an address or a CIDR block of either family; without `node:net`, since browsers check it too. */
export function isNetwork(text: string): boolean {
  const [host = '', bits, ...rest] = text.split('/')
  const most = ipv4.test(host) ? 32 : host.includes(':') && URL.canParse(`http://[${host}]/`) ? 128 : 0
  if (most === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
}
