/** What each noun of the contract is for, in lists of commands. A noun without a line here shows what can be done with it. */
export const areaSummaries: Readonly<Record<string, string>> = {
  workspace: 'Show or rename the workspace',
  projects: 'Manage projects, which separate teams or applications',
  environments: 'Manage the environments of a project, such as production and staging',
  providers: 'Manage model providers and their credentials',
  routes: 'Manage routes, which send requests for a model to providers',
  keys: 'Manage gateway keys, with which applications call the gateway',
  requests: 'See, export, send and replay requests',
  objects: 'See files, batches and other objects stored at providers',
  policies: 'Manage policies: allowed models and lanes, limits, body capture',
  prices: 'See and set what models cost',
  operators: 'Manage the people who may sign in to the console',
  sessions: 'See and end console sessions',
  tokens: 'Manage API tokens, with which programs call the admin API',
  audit: 'See, verify and export the log of all changes',
  seal: 'See and rotate the machine key that encrypts stored credentials',
  console: 'Create a sign-in link for the console, or open it',
}
