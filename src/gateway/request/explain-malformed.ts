import { type Fault, fault } from '../../core/errors.ts'

/** The longest head of a request, in bytes. */
export const maxHeadBytes = 64 * 1024
export const maxHeaders = 1000
/** How long a client may take over it. Only a guard against heads that never end: the rest of a call has its four limits. */
export const headTimeoutMs = 60_000

/** What Node's parser says of bytes that it cannot read. */
export interface ParserError {
  code?: string | undefined
  reason?: string
}

/** Why bytes that came for a request could not be read as one. */
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
  // The same code stands for a body that has a length besides its chunks.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && !reason.includes('Content-Length'))
    return fault('unsupported_transfer')
  if (code === 'CONNECT') return fault('invalid_request', 'The gateway is no proxy. Send requests to its own paths.')
  return fault('invalid_request', 'This is no valid HTTP/1.1 request.')
}
