export function SignInPage() {
  return <main className="sign-in">Sign in</main>
}
