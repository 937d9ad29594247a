import Foundation
import NotesWorkload

// model-jobs JOB NOTES ITEMS TAGS DB JSON: runs one job of `nine-jobs` with `@Model` classes. Built with the trait Macros.

#if Macros
    try JobArguments.run("model-jobs") { try Jobs($0).run($0.job) }
#else
    FileHandle.standardError.write(Data("Build with --traits Macros.\n".utf8))
    exit(2)
#endif
