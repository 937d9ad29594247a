import Foundation

final class Loader {
    let url = URL(fileURLWithPath: "/")
    var task: URLSessionDataTask?
    var parser: XMLParser?
}

func newest(_ books: [NSManagedObject]) -> NSManagedObject? {
    books.last
}
