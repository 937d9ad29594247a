import Foundation
import NotesWorkload

// model-jobs JOB NOTES ITEMS TAGS DB JSON: runs one job of `nine-jobs` with `@Model` classes. Built with the trait Macros.

#if Macros
    try JobArguments.run("model-jobs") { arguments in
        let jobs = try Jobs(arguments)
        return (try jobs.run(arguments.job), jobs)
    }
#else
    FileHandle.standardError.write(Data("Build with --traits Macros.\n".utf8))
    exit(2)
#endif
