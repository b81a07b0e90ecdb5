/** Loaded with the first call through a proxy. */
export { default as connect } from 'undici/lib/api/api-connect.js'
export { default as Pool } from 'undici/lib/dispatcher/pool.js'
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js'
