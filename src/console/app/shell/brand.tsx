/** Three ways in, one way on. */
export function Brand() {
  return (
    <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true" className="brand">
      <rect x="0" y="0" width="24" height="24" rx="6" className="brand-ground" />
      <path d="M6 7h3c3 0 3 5 6 5h3M6 12h12M6 17h3c3 0 3-5 6-5" className="brand-lines" />
    </svg>
  )
}
