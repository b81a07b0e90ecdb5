/** The one host that the admin socket answers to: a web page cannot name it, for it does not resolve. */
export const socketHost = 'spgw.socket'
