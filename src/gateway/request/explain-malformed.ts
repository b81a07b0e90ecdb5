import { type Fault, fault } from '../../core/errors.ts'

/** The longest head of a request, in bytes. */
export const maxHeadBytes = 64 * 1024
export const maxHeaders = 1000
/** How long a client may take to send the head. It only stops heads that never end; the rest of a call has its four time limits. */
export const headTimeoutMs = 60_000

/** What Node's parser reports about bytes that it cannot parse. */
export interface ParserError {
  code?: string | undefined
  reason?: string
}

/** Why the received bytes could not be parsed as a request. */
export function explainMalformed({ code, reason = '' }: ParserError): Fault {
  if (code === 'HPE_HEADER_OVERFLOW')
    return fault(
      'request_too_large',
      // Node has one code for both.
      `The request has more than ${maxHeaders} headers, or its head is larger than ${maxHeadBytes} bytes. Send fewer or shorter headers.`,
    )
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return fault(
      'invalid_request',
      `The request's head did not arrive within ${headTimeoutMs / 1000} s; send it again.`,
    )
  // The same code also stands for a body with both chunks and a content-length.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && !reason.includes('Content-Length'))
    return fault('unsupported_transfer')
  if (code === 'CONNECT') return fault('invalid_request', 'The gateway is not a proxy. Send requests to its own paths.')
  return fault('invalid_request', 'This is not a valid HTTP/1.1 request.')
}
