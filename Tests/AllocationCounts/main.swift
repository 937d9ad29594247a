import AllocationCounter
import Foundation
import GRDB

// Prints the number of allocations of each operation, one operation on each line, in the form of the committed numbers:
// `swift run allocation-counts > Tests/AllocationTests/allocations.txt`.

func fail(_ sentence: String) -> Never {
    FileHandle.standardError.write(Data((sentence + "\n").utf8))
    exit(1)
}

// With one seed of hashing in each run, tables grow and sorts compare in the same way.
if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    execv(CommandLine.arguments[0], CommandLine.unsafeArgv)
}
guard allocationsAreCounted() else { fail("Allocations are counted with glibc only, and without sanitizers.") }
do {
    // SQLite's allocations are counted too, so the numbers depend on its version.
    let version = try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
    print("SQLite \(version ?? "")")
} catch {
    fail("\(error)")
}
for operation in Operation.ofObjects + Operation.ofDocuments + Operation.ofModels {
    do {
        print(String(format: "%8.2f  ", try operation.allocations()) + operation.name)
    } catch {
        fail("\(operation.name): \(error)")
    }
}
