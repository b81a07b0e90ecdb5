/**
 * All that an operation's command needs, loaded at once: in a bundle each place that loads a part of it by itself would cut
 * the rest into one more file, and opening files is a good part of what a short command takes.
 */
export { catalog } from './catalog.ts'
export { connectGateway, files } from './connect.ts'
export { addOperations } from './operation-commands.ts'
export { renderDocument } from './print/machine.ts'
export { stdoutView } from './print/view.ts'
export { hangingLines } from './print/wrap.ts'
export { chooseRemote } from './remote.ts'
export { reach, runOperation } from './run.ts'
export { findSocket } from './socket-path.ts'
