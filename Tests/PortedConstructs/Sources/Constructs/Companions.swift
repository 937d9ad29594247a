import CoreData
import Foundation

// Types of other modules of Apple's, which do not exist on other platforms.

final class Saves {
    var cancellables: [AnyCancellable] = []
    let logger = Logger(subsystem: "books", category: "saves")
    let lock = OSAllocatedUnfairLock(initialState: 0)
    let summary: LogMessage = "saved \(1, privacy: .public)"
    let spotlight: NSCoreDataCoreSpotlightDelegate? = nil
}

struct BookList {
    @FetchRequest(sortDescriptors: []) var list: [Book]
    @SectionedFetchRequest(sortDescriptors: []) var sections: [Book]
    @ObservedObject var book: Book
}

final class BookController {
    @IBOutlet var title: String?
    @IBAction func save(_ sender: Any) {}
}
