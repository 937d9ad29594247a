import CoreData
import Foundation

// The compiler's error is at the end of the class, that of coral-port at the initialiser.

final class Cipher: ValueTransformer {
    let key: Int

    init(key: Int) {
        self.key = key
        super.init()
    }
}

final class Magazine: NSAtomicStore {
    init(at url: URL) {
        super.init(persistentStoreCoordinator: nil, configurationName: nil, at: url, options: nil)
    }
}
