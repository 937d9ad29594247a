import CoreData
import Foundation

// The compiler reports the end of the class, coral-port the initialiser.

final class Cipher: ValueTransformer {
    let key: Int

    init(key: Int) {
        self.key = key
        super.init()
    }
}
