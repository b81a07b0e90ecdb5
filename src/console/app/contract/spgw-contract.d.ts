/** Made by `scripts/bundle-console.ts` from the schemas. */
declare module 'spgw:contract' {
  const operations: import('./derived.ts').DerivedOperation[]
  export default operations
}
