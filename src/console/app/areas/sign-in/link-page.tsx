export function LinkPage() {
  return <main className="sign-in">Link</main>
}
