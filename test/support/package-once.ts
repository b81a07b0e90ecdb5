import { packageExecutable } from '../../scripts/package.ts'

/** The end-to-end tests run the very file that is handed out; it is made anew only when something in it has changed. */
export default async function packageOnce(): Promise<void> {
  await packageExecutable()
}
