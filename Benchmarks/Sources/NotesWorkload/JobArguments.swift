import Foundation

/// The arguments of a program that runs one job of the workload: `JOB NOTES ITEMS TAGS DB JSON`.
package struct JobArguments {
    package let job: Int
    /// The number of notes.
    package let notes: Int
    /// The number of items of each note.
    package let items: Int
    /// The number of tags.
    package let tags: Int
    /// The file of the store.
    package let database: URL
    /// The file of the document.
    package let json: URL

    /// Runs a job and prints its seconds and its check value. Ends the program with its usage if the arguments are incomplete.
    ///
    /// - Parameter body: Runs the job. What it returns beside the check value lives until the process ends, as in the program in C.
    package static func run<Kept>(_ program: String, _ body: (JobArguments) throws -> (check: String, kept: Kept))
        throws
    {
        guard let arguments = JobArguments(CommandLine.arguments) else {
            FileHandle.standardError.write(Data("usage: \(program) JOB NOTES ITEMS TAGS DB JSON\n".utf8))
            exit(2)
        }
        let start = Date()
        let (check, kept) = try body(arguments)
        print("work=\(Date().timeIntervalSince(start)) check=\(check)")
        withExtendedLifetime(kept) { exit(0) }
    }

    private init?(_ words: [String]) {
        guard words.count >= 6, let job = Int(words[1]), let notes = Int(words[2]), let items = Int(words[3]),
            let tags = Int(words[4])
        else { return nil }
        (self.job, self.notes, self.items, self.tags) = (job, notes, items, tags)
        database = URL(fileURLWithPath: words[5])
        json = URL(fileURLWithPath: words.count > 6 ? words[6] : "/dev/null")
    }
}
