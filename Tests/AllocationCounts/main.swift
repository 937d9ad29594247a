import AllocationCounter
import Foundation
import GRDB

// Prints how many blocks of memory each operation asks for, one operation a line, in the form in which the numbers are
// committed: `swift run allocation-counts > Tests/AllocationTests/allocations.txt`.

func fail(_ sentence: String) -> Never {
    FileHandle.standardError.write(Data((sentence + "\n").utf8))
    exit(1)
}

guard allocationsAreCounted() else { fail("Allocations are counted with glibc only, and without sanitizers.") }
do {
    // Its allocations are counted too.
    let version = try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") }
    print("SQLite \(version ?? "")")
} catch {
    fail("\(error)")
}
for operation in Operation.ofObjects + Operation.ofDocuments {
    do {
        print(String(format: "%8.2f  ", try operation.allocations()) + operation.name)
    } catch {
        fail("\(operation.name): \(error)")
    }
}
