import Foundation

// model-jobs JOB NOTES ITEMS TAGS DB JSON: runs one job of `nine-jobs` with `@Model` classes. Built with the trait Macros.

#if Macros
    let arguments = CommandLine.arguments
    guard arguments.count >= 6, let job = Int(arguments[1]), let notes = Int(arguments[2]),
        let items = Int(arguments[3]), let tags = Int(arguments[4])
    else {
        FileHandle.standardError.write(Data("usage: model-jobs JOB NOTES ITEMS TAGS DB JSON\n".utf8))
        exit(2)
    }
    let start = Date()
    let jobs = try Jobs(
        notes: notes, items: items, tags: tags, database: URL(fileURLWithPath: arguments[5]),
        json: URL(fileURLWithPath: arguments.count > 6 ? arguments[6] : "/dev/null"))
    let check = try jobs.run(job)
    print("work=\(Date().timeIntervalSince(start)) check=\(check)")
#else
    FileHandle.standardError.write(Data("Build with --traits Macros.\n".utf8))
    exit(2)
#endif
