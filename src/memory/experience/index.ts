/** Lessons of earlier episodes, by the places that they are for. */
export {
  admitted,
  type Cluster,
  clusterOf,
  type Draft,
  emptyLibrary,
  experienceOf,
  type Lesson,
  type LessonKind,
  type Library,
  type LibraryLimits,
  lessonsAt,
  retrieved,
} from "./library.ts";
export { gatherLessons, type LessonOptions, readLibrary, withLessons } from "./stepwise.ts";
export {
  chatLessons,
  type LessonWriter,
  lessonWords,
  messagesOf,
  turnLessons,
  type Written,
} from "./writers.ts";
