import Coral
import CoreData
import Foundation
import FuzzBooks
import FuzzSupport

/// Called by libFuzzer with each input: a document of any format, imported into a store with existing objects; by rows
/// if possible, and by objects.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let data = input(bytes, count)
    let limits = DocumentLimits(depth: 200, recordCount: 1000, stringLength: 1 << 16, keyLength: 200)
    for rowImporting in [RowImporting.automatic, .never] {
        attempt {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Books.model())
            try Books.fill(coordinator, at: URL(fileURLWithPath: "/dev/null"))
            var options = ImportOptions()
            options.limits = limits
            options.skipsInvalid = data.count.isMultiple(of: 2)
            if data.count % 3 == 0 { options.layout = .plain }
            var importer = BatchImporter(into: coordinator, options: options, batchSize: 3)
            importer.rowImporting = rowImporting
            _ = try importer.importDocument(.data(data))
        }
    }
    return 0
}
