/** undici types its index alone; the file behind `Pool` exports the same class. */
declare module 'undici/lib/dispatcher/pool.js' {
  const PoolClass: typeof import('undici').Pool
  export default PoolClass
}
