export { type ArtefactExample, artefactExamplesFrom } from "./artefactExamples.ts";
export { type Answers, type Dropped, type ExampleFilter, trainingExamplesFrom } from "./derived.ts";
export { type Exported, type ExportOptions, exportFile } from "./export/exportFile.ts";
export { type ExportFormat, exportFormats } from "./export/formats.ts";
export {
  type Imported,
  type ImportFormat,
  type ImportOptions,
  importers,
  importFile,
} from "./import/importFile.ts";
export { type LoggedOptions, logged, spanOf } from "./logged.ts";
export { type ReadSpans, readSpans } from "./otlp/otlp.ts";
export { type Served, type ServedSession, servedSessions } from "./sessions.ts";
export { taskOfPrompt } from "./task.ts";
