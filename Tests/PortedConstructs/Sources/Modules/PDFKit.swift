import PDFKit
