/** undici types its index alone; the files behind `Pool` and `ProxyAgent` export the same classes. */
declare module 'undici/lib/dispatcher/pool.js' {
  const PoolClass: typeof import('undici').Pool
  export default PoolClass
}

declare module 'undici/lib/core/connect.js' {
  const buildConnector: typeof import('undici').buildConnector
  export default buildConnector
}

declare module 'undici/lib/dispatcher/proxy-agent.js' {
  const ProxyAgentClass: typeof import('undici').ProxyAgent
  export default ProxyAgentClass
}

/** A method of `Dispatcher`, by itself. */
declare module 'undici/lib/api/api-connect.js' {
  const connect: import('undici').Dispatcher['connect']
  export default connect
}
